"""One file for each foreign module that mluops stands for. Adding a file is enough. It has

    PACKAGE         the name install() knows it by
    NAMES           patterns of the modules' full names ("*.iou3d_nms_cuda")
    __all__         what a module of that name has: names, argument order, outputs and results of the original, thin
                    over mluops.torch and the functions of mluops.mmcv.op, which fill buffers as these extensions do
    OF_OUR_PACKAGE  True: not inside another version of its package that is installed
    REPLACES        {(module, function): ours}, for Python functions of a package that never ask their extension for CPU
                    tensors
    UNSERVED        patterns of modules of the package that we have no operator of: they import, and raise when used
    UNLESS_FALLBACK True: not where the program has a fallback for the import
    BUILT           names by which programs have torch.utils.cpp_extension.load compile it: the extension's, or a source's
    FAILS           modules that are not to be imported while we stand for the first of NAMES: programs do without them
    WRAPS           {(module, function): maker of a function from the original}
    WHOLE           True: what is in REPLACES serves tensors on every device
    within          given the package of the program that a module lies in: its functions that differ there
    loaded          what to do once one of its modules is imported
    ON_REQUEST      True: install() without names leaves it alone
    prepare         what install() with its name calls before it changes anything; raises where it cannot be had
    install         instead of modules: what to do where the package is installed, and uninstall

of which only PACKAGE has to be there.
"""
