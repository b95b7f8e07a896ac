// Functions of C++ as functions of a Python module, for the types that extensions mostly use. Any other type does not
// compile; the extension is then bound by pybind11, which takes longer to compile.
#pragma once

#include <torch/csrc/python_headers.h>
#include <torch/types.h>

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace mluops_bindings {

struct PythonError {};  // which is set

// In the device's library: what tells tensors apart in Python brings pybind11, which takes most of a kernel's time to
// compile.
bool is_tensor(PyObject* object);
const at::Tensor& tensor_of(PyObject* object);
PyObject* python_of(const at::Tensor& tensor);

[[noreturn]] inline void refuse(PyObject* got, const char* wanted) {
  PyErr_Format(PyExc_TypeError, "%s was wanted, got %.200s", wanted, Py_TYPE(got)->tp_name);
  throw PythonError();
}

// ---- arguments ----

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
T integer_of(PyObject* object) {
  PyObject* index = PyNumber_Index(object);  // of a bool, too
  if (index == nullptr) PyErr_Clear(), refuse(object, "an integer");
  const long long value = PyLong_AsLongLong(index);
  Py_DECREF(index);
  if (PyErr_Occurred() != nullptr) throw PythonError();
  if (value < static_cast<long long>(std::numeric_limits<T>::lowest()) ||
      (value > 0 && static_cast<unsigned long long>(value) > std::numeric_limits<T>::max())) {
    PyErr_Format(PyExc_OverflowError, "%lld does not fit the function's integer", value);
    throw PythonError();
  }
  return static_cast<T>(value);
}

template <class T>
T from_python(PyObject* object) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    if (!is_tensor(object)) refuse(object, "a tensor");
    return tensor_of(object);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!PyBool_Check(object)) refuse(object, "a bool");
    return object == Py_True;
  } else if constexpr (std::is_integral_v<T>) {
    return integer_of<T>(object);
  } else if constexpr (std::is_floating_point_v<T>) {
    const double value = PyFloat_AsDouble(object);
    if (PyErr_Occurred() != nullptr) PyErr_Clear(), refuse(object, "a number");
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : nullptr;
    if (text == nullptr) PyErr_Clear(), refuse(object, "a string");
    return {text, static_cast<std::size_t>(size)};
  } else if constexpr (is_optional<T>::value) {
    if (object == Py_None) return std::nullopt;
    return from_python<typename T::value_type>(object);
  } else {
    static_assert(is_vector<T>::value, "mluops_bindings: no such argument");
    if (!PyList_Check(object) && !PyTuple_Check(object)) refuse(object, "a list");
    T values;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      values.push_back(from_python<typename T::value_type>(PySequence_Fast_GET_ITEM(object, i)));
    }
    return values;
  }
}

// ---- results ----

template <class T>
PyObject* to_python(const T& value);

template <class... T>
PyObject* to_python(const std::tuple<T...>& values) {
  PyObject* made = PyTuple_New(sizeof...(T));
  Py_ssize_t i = 0;
  std::apply([&](const T&... each) { (PyTuple_SET_ITEM(made, i++, to_python(each)), ...); }, values);
  return made;
}

template <class T>
PyObject* to_python(const T& value) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return python_of(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return PyBool_FromLong(value);
  } else if constexpr (std::is_integral_v<T>) {
    return PyLong_FromLongLong(static_cast<long long>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return PyFloat_FromDouble(static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size()));
  } else {
    static_assert(is_vector<T>::value, "mluops_bindings: no such result");
    PyObject* made = PyList_New(static_cast<Py_ssize_t>(value.size()));
    for (std::size_t i = 0; i < value.size(); ++i) {
      PyList_SET_ITEM(made, static_cast<Py_ssize_t>(i), to_python(value[i]));
    }
    return made;
  }
}

// ---- calls ----

template <class R, class... A, std::size_t... I>
PyObject* apply(R (*function)(A...), PyObject* arguments, std::index_sequence<I...>) {
  std::tuple<std::decay_t<A>...> values{from_python<std::decay_t<A>>(PyTuple_GET_ITEM(arguments, I))...};
  if constexpr (std::is_void_v<R>) {
    function(static_cast<A>(std::get<I>(values))...);
    Py_RETURN_NONE;
  } else {
    return to_python<std::decay_t<R>>(function(static_cast<A>(std::get<I>(values))...));
  }
}

inline PyObject* raised(PyObject* type, const c10::Error& error) {
  PyErr_SetString(type, error.what_without_backtrace());
  return nullptr;
}

template <class R, class... A>
PyObject* call(const char* name, R (*function)(A...), PyObject* arguments) {
  if (PyTuple_GET_SIZE(arguments) != static_cast<Py_ssize_t>(sizeof...(A))) {
    return PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, got %zd", name,
                        static_cast<Py_ssize_t>(sizeof...(A)), PyTuple_GET_SIZE(arguments));
  }
  try {
    return apply(function, arguments, std::index_sequence_for<A...>());
  } catch (const PythonError&) {
    return nullptr;
  } catch (const c10::IndexError& error) {
    return raised(PyExc_IndexError, error);
  } catch (const c10::ValueError& error) {
    return raised(PyExc_ValueError, error);
  } catch (const c10::TypeError& error) {
    return raised(PyExc_TypeError, error);
  } catch (const c10::NotImplementedError& error) {
    return raised(PyExc_NotImplementedError, error);
  } catch (const c10::Error& error) {
    return raised(PyExc_RuntimeError, error);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

}  // namespace mluops_bindings
